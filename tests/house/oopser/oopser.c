// SPDX-License-Identifier: GPL-2.0
/* /dev/oopser: a fault on a mapping of it oopses. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>

static vm_fault_t oopser_fault(struct vm_fault *vmf)
{
	*(volatile int *)8 = 1;
	return VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct oopser_vm_ops = {
	.fault = oopser_fault
};

static int oopser_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &oopser_vm_ops;
	return 0;
}

static const struct file_operations oopser_fops = { .owner = THIS_MODULE,
						    .mmap = oopser_mmap };

static struct miscdevice oopser = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "oopser",
	.fops = &oopser_fops,
};
module_misc_device(oopser);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("oopses in faults on its mappings");
